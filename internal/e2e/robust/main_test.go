package robust

import (
	"os"
	"testing"

	"merchantorders/internal/app/apptest"
)

func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }
