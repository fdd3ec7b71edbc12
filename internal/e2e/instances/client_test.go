package instances

import (
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

type (
	client   = apptest.Client
	response = testenv.Response
	entry    = apptest.File
	sample   = apptest.Sample
	decision = apptest.Decision
)

var decisions = apptest.Decisions

const (
	tooManyFiles = apptest.TooManyFiles
	uploadFailed = apptest.UploadFailed
	notThere     = "The invoice was not found."
)
