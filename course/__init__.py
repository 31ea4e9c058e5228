"""The graded course: exercises, what checks them, and what they are worth.

* `exercise` defines an exercise, `story` the report of a failed check.
* `exercises` holds one folder an exercise: handout, what students begin with, checks.
* `solutions` holds references, and wrong solutions that the checks must refuse; students do not get
  it, and nothing but tests and teachers reads it.
* `judge` checks a folder, `telling` puts the verdict into words, `working` makes working copies.
"""
