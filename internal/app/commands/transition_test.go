package commands_test

import "testing"

// Proves decision 2 (imports, bulk changes and answers).
func TestTransition(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	f.Import(t, document(1), document(2))
	input := `{"merchantId":355,"reference":"T-1","state":"in-processing","carrier":{"name":"Courier"}}
{"merchantId":355,"reference":"T-2","state":"completed"}
{"merchantId":355,"reference":"T-3","state":"canceled"}

{"merchantId":355,"ref`
	const problems = `line 2: An order in the state registered cannot move to completed: it can move to in-processing, rejected-by-merchant, canceled.
line 3: The merchant 355 has no such order.
line 5: the line is not a JSON object with the members of a change
merchant-orders: 3 lines changed nothing
`
	for _, want := range []string{
		"changed 1, unchanged 0, refused 1, not found 1, invalid 1\n",
		"changed 0, unchanged 1, refused 1, not found 1, invalid 1\n",
	} {
		if got := f.Run(t, input, "transition", "-"); got.Code != 1 || got.Stdout != want || got.Stderr != problems {
			t.Errorf("got %+v, want %q", got, want)
		}
	}
	const shipped = `{"merchantId":355,"reference":"T-1","state":"ready-for-shipment"}`
	f.Run(t, shipped, "transition", "-").WantOut(t, 0, "changed 1, unchanged 0, refused 0, not found 0, invalid 0\n")
}
