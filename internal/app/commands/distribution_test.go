package commands

import (
	"bytes"
	"testing"

	"merchantorders/internal/maintenance/citus"
)

func TestPrintDistribution(t *testing.T) {
	t.Parallel()
	result := citus.Result{
		Tables: []citus.Table{{Name: "orders", Column: "merchant_id"}, {Name: "events", Column: "merchant_id", AlreadyDistributed: true}},
		Nodes:  2,
	}
	for asJSON, want := range map[bool]string{
		false: "orders: distributed by merchant_id\nevents: already distributed by merchant_id\nnodes with data: 2\n",
		true: `{"tables":[{"name":"orders","column":"merchant_id","distributed":"now"},` +
			`{"name":"events","column":"merchant_id","distributed":"before"}],"nodes":2}` + "\n",
	} {
		var out bytes.Buffer
		if err := (&process{stdout: &out}).printDistribution(result, asJSON); err != nil || out.String() != want {
			t.Errorf("JSON %v: %q, error %v, want %q", asJSON, out.String(), err, want)
		}
	}
}
