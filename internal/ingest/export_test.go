package ingest

// ParseAnswer is parseAnswer.
var ParseAnswer = parseAnswer
