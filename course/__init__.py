"""The graded course: exercises, what checks them, and what they are worth.

* `exercise` says what an exercise is, `story` what a check tells that is not content.
* `exercises` holds one folder an exercise: handout, what students begin with, checks.
* `solutions` holds references, and wrong solutions that the checks must refuse; students do not get
  it, and nothing but tests and teachers reads it.
* `judge` checks a folder, `telling` puts the verdict into words, `working` makes working copies.
"""
