package instances

import (
	"fmt"
	"maps"
	"slices"

	"github.com/anishathalye/porcupine"

	"merchantorders/internal/order"
)

// verb is what a client can do with an order.
type verb string

const (
	accept verb = "accept"
	reject verb = "reject"
	upload verb = "upload"
	remove verb = "delete"
	read   verb = "read"

	// reserve and activate are the two steps of an upload that succeeded: the
	// file is reserved first, and the file shown later. In between others are
	// refused because of reservations although fewer than three files are shown.
	reserve  verb = "upload: reserve"
	activate verb = "upload: activate"
)

// request is what a client asks for.
type request struct {
	verb     verb
	order    sample
	instance int
	version  int   // 1 or 2
	file     int64 // of a delete: the id of the file; of an upload: which content
}

// outcome is what a client observes. Everything else is no outcome, but an error
// of the test.
type outcome struct {
	done  bool    // false: refused, as its state or its files do not allow it
	id    int64   // of an upload that was done
	state string  // of a read
	files []int64 // of a read: the ids of the files shown
}

// orderState is the sequential specification of one order: who asks it one thing
// at a time gets these responses.
type orderState struct {
	state    string
	reserved []int64 // reservations of files that are not shown yet, by id
	active   []int64 // files shown, by id
}

// step returns whether a request can have this outcome now, and what comes of
// it.
func (s orderState) step(r request, o outcome) (bool, orderState) {
	registered := s.state == order.Registered.String()
	full := len(s.reserved)+len(s.active) >= order.MaxInvoices
	switch r.verb {
	case accept, reject:
		if o.done != registered {
			return false, s
		}
		if o.done {
			s.state = order.InProcessing.String()
			if r.verb == reject {
				s.state = order.RejectedByMerchant.String()
			}
		}
		return true, s
	case upload: // refused
		return full, s
	case reserve:
		s.reserved = with(s.reserved, o.id)
		return !full, s
	case activate:
		reserved := slices.Contains(s.reserved, o.id)
		s.reserved, s.active = without(s.reserved, o.id), with(s.active, o.id)
		return reserved, s
	case remove:
		there := slices.Contains(s.active, r.file)
		s.active = without(s.active, r.file)
		return there == o.done, s
	case read:
		return s.state == o.state && slices.Equal(s.active, o.files), s
	}
	return false, s
}

// with and without return a list that is in order, as those of an order are,
// and leave the one they are given as it is.
func with(ids []int64, id int64) []int64 {
	at, _ := slices.BinarySearch(ids, id)
	return slices.Insert(slices.Clone(ids), at, id)
}

func without(ids []int64, id int64) []int64 {
	return slices.DeleteFunc(slices.Clone(ids), func(one int64) bool { return one == id })
}

// model is orderState as the checker takes it, each order by itself.
var model = porcupine.Model{
	Init: func() any { return orderState{state: order.Registered.String()} },
	Step: func(state, input, output any) (bool, any) {
		return state.(orderState).step(input.(request), output.(outcome))
	},
	Equal: func(one, other any) bool {
		a, b := one.(orderState), other.(orderState)
		return a.state == b.state && slices.Equal(a.reserved, b.reserved) && slices.Equal(a.active, b.active)
	},
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byOrder := map[sample][]porcupine.Operation{}
		for _, operation := range history {
			n := operation.Input.(request).order
			byOrder[n] = append(byOrder[n], operation)
		}
		return slices.Collect(maps.Values(byOrder))
	},
	DescribeOperation: func(input, output any) string {
		return fmt.Sprintf("%+v -> %+v", input, output)
	},
	DescribeState: func(state any) string { return fmt.Sprintf("%+v", state) },
}
