package audit_test

import (
	"testing"

	"merchantorders/internal/transfer/transfertest"
)

func TestMain(m *testing.M) { transfertest.Main(m) }
