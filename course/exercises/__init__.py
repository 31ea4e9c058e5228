"""One folder an exercise: README.md is the handout, start/ what students begin with."""
