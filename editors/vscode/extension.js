// Starts `vitrine-p4c lsp` and lets VS Code talk to it. All that is known about P4 is in there.

const { window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = async () => {
  const settings = workspace.getConfiguration("p4");
  const command = settings.get("compiler");
  const server = { command, args: ["lsp", ...settings.get("arguments")] };
  // A program may include a file that is changed elsewhere.
  const synchronize = { fileEvents: workspace.createFileSystemWatcher("**/*.p4") };
  client = new LanguageClient("p4", "P4", server, { documentSelector: [{ language: "p4" }], synchronize });
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(`P4: "${command} lsp" does not start (${error.message}). `
      + "Set p4.compiler to the path of vitrine-p4c, which make setup builds as build/bin/vitrine-p4c.");
  }
};

exports.deactivate = () => client?.stop();
