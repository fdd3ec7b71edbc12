package demo_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/demo"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// marketplace is a database with a merchant, and a clock.
type marketplace struct {
	*order.Service
	services order.Services
	store    *breakable
	clock    time.Time
	log      []string // what simulators have done
}

func newMarketplace(t *testing.T) *marketplace {
	t.Helper()
	m := &marketplace{clock: noon}
	m.services, m.store = openAt(t, func() time.Time { return m.clock })
	m.Service = m.services.Orders
	testenv.NoError(t, m.services.Merchants.Add(t.Context(), order.Command(), demo.MerchantID, demo.MerchantName, order.Options[order.Merchant]{}))
	return m
}

// settings of most tests: an order a minute, a minute of which is an hour of the
// marketplace.
func settings(seed uint64) demo.Settings {
	return demo.Settings{MerchantID: demo.MerchantID, Seed: seed, Rate: 1, Speed: 60, Accept: 80, Count: 60}
}

func (m *marketplace) simulator(s demo.Settings) *demo.Simulator {
	s.Observe = func(at time.Time, reference string, state order.State) {
		m.log = append(m.log, fmt.Sprintf("%s %s %s", at.Format(time.RFC3339), reference, state))
	}
	return demo.NewSimulator(m.Service, s)
}

// run advances the clock until the simulator has nothing left to do, or until a time.
func (m *marketplace) run(t *testing.T, s *demo.Simulator, until time.Time) {
	t.Helper()
	for ; m.clock.Before(until); m.clock = m.clock.Add(time.Minute) {
		done := testenv.Of(s.Step(t.Context())).Must(t)
		if done {
			return
		}
	}
}

// states counts the orders by state.
func (m *marketplace) states(t *testing.T) map[order.State]int64 {
	t.Helper()
	count := make(map[order.State]int64)
	for _, state := range order.States() {
		filter := order.NewFilter()
		filter.AnyState, filter.States = false, []order.State{state}
		page := testenv.Of(m.List(t.Context(), demo.MerchantID, filter)).Must(t)
		if page.Total > 0 {
			count[state] = page.Total
		}
	}
	return count
}

// TestSimulation checks that a simulator leads every order to its end, and that another
// one with the same seed does the same, also after a restart.
func TestSimulation(t *testing.T) {
	t.Parallel()
	forever := noon.AddDate(1, 0, 0)
	whole := newMarketplace(t)
	whole.run(t, whole.simulator(settings(1)), forever)
	count := whole.states(t)
	if count[order.Completed] < 30 || count[order.Canceled] == 0 || count[order.RejectedByMerchant] == 0 || len(count) != 3 {
		t.Errorf("orders by state in the end: %v", count)
	}
	log := strings.Join(whole.log, "\n")
	for _, state := range order.States() {
		testenv.Contains(t, "log", log, " "+state.String())
	}
	for _, o := range all(t, whole.Service) {
		if o.State == order.Completed && (len(o.Carrier.ShipmentIDs) != 1 || len(o.Carrier.TrackingCodes) != 12) {
			t.Errorf("%s was delivered without a shipment: %+v", o.Reference, o.Carrier)
		}
	}
	restarted := newMarketplace(t)
	restarted.run(t, restarted.simulator(settings(1)), noon.Add(90*time.Minute)) // all orders are placed
	rest := settings(1)
	rest.Rate = 1e-6 // no more orders
	restarted.run(t, restarted.simulator(rest), whole.clock)
	testenv.Equal(t, "the same seed after a restart", whole.log, restarted.log)
	other := newMarketplace(t)
	other.run(t, other.simulator(settings(2)), noon.Add(time.Hour))
	testenv.Lacks(t, "log of another seed", log, strings.ReplaceAll(strings.Join(other.log[:5], "\n"), "SIM2-", "SIM1-"))
}

// TestSimulatorFollowsTheMerchant checks that carriers move an order on only after the
// merchant has accepted it, and that it is canceled if nobody answers.
func TestSimulatorFollowsTheMerchant(t *testing.T) {
	t.Parallel()
	m := newMarketplace(t)
	alone := settings(1)
	alone.Accept, alone.Count = 0, 10
	s := m.simulator(alone)
	m.run(t, s, noon.Add(20*time.Minute))
	if count := m.states(t); count[order.Registered]+count[order.Canceled] != 10 || count[order.Registered] < 5 {
		t.Fatalf("without the merchant: %v", count)
	}
	const accepted = "SIM1-000010"
	testenv.Of(m.Accept(t.Context(), order.CommandFor(demo.MerchantID), order.ByReference(accepted), order.Options[order.WriteResult]{})).Must(t)
	m.run(t, s, noon.AddDate(0, 1, 0))
	if count := m.states(t); count[order.Canceled] != 9 || count[order.Completed] != 1 {
		t.Errorf("in the end: %v", count)
	}
	events, err := m.OrderEvents(t.Context(), demo.MerchantID, order.ByReference("SIM1-000009"), order.FeedQuery{Limit: 10})
	if err != nil || len(events) != 2 || events[1].At.Sub(events[0].At) > 49*time.Minute || events[1].Reason != "not-answered-in-time" {
		t.Errorf("events of an order without an answer: %+v, %v", events, err)
	}
}

// TestSimulatorMovesDemoOrders checks that the orders of the demo wait for the merchant, in
// whatever state they are, and then live on.
func TestSimulatorMovesDemoOrders(t *testing.T) {
	t.Parallel()
	m := newMarketplace(t)
	prepare(t, m.services, demo.Created)
	before := all(t, m.Service)
	with := settings(1)
	with.Demo, with.Count, with.Rate = true, 0, 1e-6
	s := m.simulator(with)
	m.run(t, s, noon.AddDate(0, 0, 2))
	testenv.Equal(t, "without the merchant", before, all(t, m.Service))
	const accepted = "DEMO-0060"
	testenv.Of(m.Accept(t.Context(), order.CommandFor(demo.MerchantID), order.ByReference(accepted), order.Options[order.WriteResult]{})).Must(t)
	m.run(t, s, noon.AddDate(0, 0, 4))
	for i, o := range all(t, m.Service) {
		testenv.Equal(t, "state of "+o.Reference, o.Reference == accepted, o.State != before[i].State && o.State != order.InProcessing)
	}
}

// TestSimulatorAfterAFailure checks that orders which could not be placed are placed
// later, once.
func TestSimulatorAfterAFailure(t *testing.T) {
	t.Parallel()
	m := newMarketplace(t)
	placed := func() (references []string) {
		for _, line := range m.log {
			if strings.HasSuffix(line, " registered") {
				references = append(references, strings.Fields(line)[1])
			}
		}
		return references
	}
	s := m.simulator(settings(1))
	m.run(t, s, noon.Add(3*time.Minute))
	before := placed()
	m.store.broken = true
	m.clock = m.clock.Add(5 * time.Minute)
	if _, err := s.Step(t.Context()); !errors.Is(err, order.ErrUnavailable) || len(placed()) != len(before) {
		t.Fatalf("error %v, orders %v", err, placed())
	}
	m.store.broken = false
	testenv.Of(s.Step(t.Context())).Must(t)
	for i, reference := range placed() {
		testenv.Equal(t, "reference", fmt.Sprintf("SIM1-%06d", 1+i), reference)
	}
	if len(placed()) < len(before)+3 {
		t.Errorf("orders %v, before the failure %v", placed(), before)
	}
}
