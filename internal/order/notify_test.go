package order_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// withoutEvents are the methods of the services that write no events of merchants.
var withoutEvents = []string{
	"BeginRetention", "CheckClock", "CountOldOrders", "Period", "CountDeletedFiles",
	"Add", "Affected", "ByMerchantReference", "CanceledByDeadline", "CustomerData", "DayCounts", "DeadlineWarnings", "DeleteExpiredIdempotencyRecords", "EndWaits", "Entries", "Events", "Export",
	"ExpireReservations", "Get", "GetMany", "Inspect", "KeyFor", "LimitWaiters", "List", "MarketEvents", "Now", "OnChange", "Open", "OpenInvoice", "OrderEvents", "Overview", "Page", "Prepare",
	"PurgeDeletedFiles", "Refuse", "Resume", "Revoke", "Search", "StageFile", "StateCounts", "StopWaiting", "Sums", "Suspend", "ToShip", "Unanswered", "Update",
	"Waiting", "WithoutInvoice",
}

// TestEveryChangeNotifies calls every method of the services that writes events. Each
// must call the function of OnChange: the deliveries of webhooks begin there.
func TestEveryChangeNotifies(t *testing.T) {
	t.Parallel()
	ctx, none := t.Context(), order.Options[order.WriteResult]{}
	first, operator, caller := order.ByLegacyID(1), order.Command(), order.CommandFor(merchant)
	canceled := order.Update{To: order.Canceled}
	// Each changes an order that is new, or has a file with the id 1.
	changes := map[string]func(order.Services, *folder) error{
		"Accept": func(s order.Services, _ *folder) error { return second(s.Orders.Accept(ctx, caller, first, none)) },
		"Reject": func(s order.Services, _ *folder) error { return second(s.Orders.Reject(ctx, caller, first, "", none)) },
		"Rehearse": func(s order.Services, _ *folder) error {
			return second(s.Orders.Rehearse(ctx, caller, first, order.Completed, none))
		},
		"UpdateMerchantData": func(s order.Services, _ *folder) error {
			return second(s.Orders.UpdateMerchantData(ctx, caller, first, order.MerchantDataUpdate{Note: order.To(new("x"))}, none))
		},
		"ChangeOrder": func(s order.Services, _ *folder) error {
			return second(s.Orders.ChangeOrder(ctx, operator, merchant, first, canceled, none))
		},
		"ChangeOrders": func(s order.Services, _ *folder) error {
			return second(s.Orders.ChangeOrders(ctx, operator, []order.BatchChange{{MerchantID: merchant, Reference: "SF-1", Update: canceled}}, nil))
		},
		"Upload": func(s order.Services, files *folder) error {
			return second(s.Orders.Upload(ctx, caller, first, "b.pdf", order.Content{Staged: files.stage(t), Size: 1}, none))
		},
		"DeleteInvoice": func(s order.Services, _ *folder) error {
			return second(s.Orders.DeleteInvoice(ctx, caller, first, 1, none))
		},
		"Import": func(s order.Services, _ *folder) error {
			return second(s.Orders.Import(ctx, operator, []order.Incoming{{Order: numbered(2, order.Registered)}}))
		},
		"ImportOne": func(s order.Services, _ *folder) error {
			return second(s.Orders.ImportOne(ctx, operator, order.Incoming{Order: numbered(2, order.Registered)}, order.Options[order.ImportResult]{}))
		},
		"Erase": func(s order.Services, _ *folder) error {
			return second(s.Retention.Erase(ctx, operator, order.EraseTarget{MerchantID: merchant, Reference: "SF-1"}, order.Options[order.Erasure]{}))
		},
		"CancelExpired":   func(s order.Services, _ *folder) error { return second(s.Orders.CancelExpired(ctx)) },
		"WarnOfDeadlines": func(s order.Services, _ *folder) error { return second(s.Orders.WarnOfDeadlines(ctx, time.Hour)) },
		"DeleteOldOrders": func(s order.Services, _ *folder) error {
			return second(s.Retention.DeleteOldOrders(ctx, noon.Add(time.Hour)))
		},
	}
	services := reflect.TypeFor[order.Services]()
	for i := range services.NumField() {
		service := services.Field(i).Type
		for j := range service.NumMethod() {
			if name := service.Method(j).Name; (changes[name] != nil) == slices.Contains(withoutEvents, name) {
				t.Errorf("%s.%s: say in this test whether it writes events", service, name)
			}
		}
	}
	for name, change := range changes {
		o := sample(order.Registered)
		o.ExpiresAt = noonUTC
		if name == "WarnOfDeadlines" {
			o.ExpiresAt = noonUTC.Add(time.Hour)
		}
		if name == "DeleteOldOrders" {
			o.State = order.Completed
		}
		db, files := newDatabase(t, o), newFolder(t)
		s := newServices(db, files)
		testenv.NoError(t, second(s.Orders.Upload(ctx, caller, first, "a.pdf", order.Content{Staged: files.stage(t), Size: 1}, none)))
		notified := 0
		s.Orders.OnChange(func(id int64) {
			if id == merchant {
				notified++
			}
		})
		before := newest(t, s.Orders)
		testenv.Equal(t, name, nil, change(s, files))
		if after := newest(t, s.Orders); after == before || notified == 0 {
			t.Errorf("%s: %d events, %d calls of the function of OnChange", name, after-before, notified)
		}
	}
}

// second returns the error of a call.
func second[T any](_ T, err error) error { return err }

// newest returns the number of the merchant's newest event.
func newest(t *testing.T, s *order.Service) int64 {
	t.Helper()
	feed := testenv.Of(s.Events(t.Context(), merchant, order.FeedQuery{Latest: true})).Must(t)
	return feed.Next
}
