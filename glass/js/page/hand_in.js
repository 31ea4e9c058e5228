// The file to hand in after a lesson: it stands alone, with name, numbers, answers, pictures and acts.

import { instant } from "../words.js";
import { element, table } from "./dom.js";

// How the file looks, on a screen and on paper.
const STYLE = `
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a212c; background: #fff; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h2 { font-size: 1.15rem; margin-top: 2rem; }
h3 { font-size: 1rem; margin-top: 1.5rem; }
p { white-space: pre-wrap; }
pre { white-space: pre-wrap; font-size: .85rem; background: #f6f7f9; padding: .5rem .7rem; border-radius: 6px; }
caption { text-align: left; }
th, td { text-align: left; padding: .2rem 1.5rem .2rem 0; border-bottom: 1px solid #dde2ea; font-weight: 400; vertical-align: top; }
img { display: block; max-width: 100%; max-height: 22cm; border: 1px solid #dde2ea; border-radius: 10px; }
@page { margin: 15mm; }
@media print { body { max-width: none; margin: 0; padding: 0; font-size: 11pt; } h2, h3 { break-after: avoid; } img, pre { break-inside: avoid; } }
`;

// The file as text. `answers` and `pictures` are by titles of steps, `claim` is {title, place, rows: [[words, value]]},
// `done` what was done: [{title, timePs, text}].
export function handedIn({ lesson, name, answers, pictures, claim, done }) {
  const page = document.implementation.createHTMLDocument(`${lesson.title} – ${name}`);
  page.documentElement.lang = "en";
  page.head.append(element("meta", { charset: "utf-8" }), element("style", {}, STYLE));
  const questions = lesson.steps.filter((each) => each.ask || each.picture);
  page.body.append(element("h1", {}, lesson.title), element("p", {}, name), element("p", {}, lesson.question),
    ...(claim ? [element("h2", {}, "Numbers"), table(`${claim.title}, ${claim.place}`, ["", "measured"], claim.rows)] : []),
    element("h2", {}, "Answers"),
    ...questions.flatMap((step) => [element("h3", {}, step.ask ?? step.title), ...answerOf(step, answers, pictures)]),
    element("h2", {}, "What was done"),
    ...(done.length ? done.flatMap(({ title, timePs, text }) => [element("h3", {}, `${instant(timePs, 0.1)}: ${title}`), element("pre", {}, text)])
      : [element("p", {}, "Nothing was changed.")]));
  return `<!doctype html>${page.documentElement.outerHTML}`;
}

function answerOf(step, answers, pictures) {
  const picture = pictures[step.title];
  return [...(step.ask ? [element("p", {}, answers[step.title] || "(no answer)")] : []),
          ...(picture ? [element("img", { src: picture, alt: step.title })] : [])];
}

// A file's name of a person's: "hol-blocking-ada-lovelace.html".
export function fileNameOf(lesson, name) {
  const slug = name.normalize("NFKD").toLowerCase().replace(/\p{M}+/gu, "").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
  return `${[lesson, slug].filter(Boolean).join("-")}.html`;
}
