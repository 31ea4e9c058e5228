"""The square-root rule: how little buffer a line needs that many flows share."""
