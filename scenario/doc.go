package scenario
