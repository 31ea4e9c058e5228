-- What somebody does in Neovim with a P4 program that has a mistake: prints what came of it as JSON.

local found = {}

local function wait(what, ready)
  if not vim.wait(30000, ready, 20) then error("waited in vain for " .. what) end
end

local function press(keys)
  local typed = vim.api.nvim_replace_termcodes(keys, true, false, true)
  vim.api.nvim_feedkeys(typed, "xt", false)
end

local function text() return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n") end

-- Puts the cursor on the first letter of the name's last occurrence.
local function go_to(name)
  press("G$")
  vim.fn.search("\\<" .. name .. "\\>", "b")
end

local function mistakes()
  return vim.tbl_map(function(each) return each.message end, vim.diagnostic.get(0))
end

wait("the mistake", function() return #mistakes() > 0 end)
found.mistakes = mistakes()

-- The quick fix, the only one that is offered.
vim.ui.select = function(items, _, choose) choose(items[1], 1) end
go_to("hopps")
press("gra")
wait("the quick fix", function() return not text():find("hopps") end)
wait("no mistake", function() return #mistakes() == 0 end)

go_to("hops")
press("K")
wait("the meaning", function() return #vim.api.nvim_list_wins() > 1 end)
for _, window in ipairs(vim.api.nvim_list_wins()) do
  if vim.api.nvim_win_get_config(window).relative ~= "" then
    local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
    found.meaning = table.concat(lines, "\n")
    vim.api.nvim_win_close(window, true)
  end
end

press("<C-]>")
found.defined_in_line = vim.fn.line(".")

press("grr")
wait("the references", function() return #vim.fn.getqflist() > 0 end)
found.references = #vim.fn.getqflist()
vim.cmd.cclose()

vim.ui.input = function(_, name) name("steps") end
go_to("hops")
press("grn")
wait("the new name", function() return not text():find("hops") end)

vim.lsp.buf.format()
found.text = text()
io.stdout:write(vim.json.encode(found))
