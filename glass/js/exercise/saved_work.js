// The student's work: saved in the browser, and as a file that is also the hand-in.

import { NoZip, unzip, zipOf } from "../alone/zip.js";

const STUDENT = "student.txt";
const ARCHIVE_BYTES_MAX = 16 << 20;
const bytesOf = new TextEncoder(), text = new TextDecoder();

export class SavedWork {
  // `exercise`: {name, files: {name: text}}, the files at the start.
  constructor(exercise) {
    this.exercise = exercise;
    this.key = `vitrine.exercise.${exercise.name}`;
    this.student = "";
    this.files = { ...exercise.files };
    this.restore(this.stored());
  }

  restore({ student = "", files = {} }) {
    this.student = student;
    for (const name of Object.keys(this.exercise.files)) {
      if (typeof files[name] === "string") this.files[name] = files[name];
    }
  }

  // False if the browser stores nothing for pages, as in some private windows.
  save() {
    try {
      localStorage.setItem(this.key, JSON.stringify({ student: this.student, files: this.files }));
      return true;
    } catch {
      return false;
    }
  }

  stored() {
    try {
      return JSON.parse(localStorage.getItem(this.key)) ?? {};
    } catch {
      return {};
    }
  }

  // The archive that `vitrine check` and `vitrine grade` take.
  archive() {
    const folder = this.exercise.name;
    const files = Object.entries(this.files).map(([name, content]) => [`${folder}/${name}`, bytesOf.encode(content)]);
    return zipOf([[`${folder}/${STUDENT}`, bytesOf.encode(`${this.student}\n`)], ...files]);
  }

  // Restores an archive or a single file of the exercise; throws a NoZip with a message.
  async open(name, bytes) {
    if (name in this.exercise.files) return this.restore({ student: this.student, files: { [name]: text.decode(bytes) } });
    const found = new Map([...await unzip(bytes, ARCHIVE_BYTES_MAX)].map(([path, content]) => [path.split("/").at(-1), text.decode(content)]));
    const files = Object.fromEntries(Object.keys(this.exercise.files).filter((each) => found.has(each)).map((each) => [each, found.get(each)]));
    if (!Object.keys(files).length) throw new NoZip(`There is no ${Object.keys(this.exercise.files).join(" or ")} in ${name}.`);
    return this.restore({ student: found.get(STUDENT)?.trim() ?? this.student, files });
  }

  startOver() {
    this.files = { ...this.exercise.files };
  }
}
