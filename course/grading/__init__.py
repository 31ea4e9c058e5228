"""Grades a class: submissions in, one line and one page a student out.

* `intake` finds submissions, and takes from each the files of the exercise and nothing else.
* `jailed` runs what students wrote where it can do no harm.
* `grade` judges all of them, several at a time.
* `pages`, `sheet` and `gradescope` write what came of it.
"""
