package orderapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// exportCursorHeader is the header of the response to an export from which a client makes
// the cursor of each line: its value, a period, and the reference of the order.
const exportCursorHeader = "Export-Cursor"

// errExportCursor is the error of a cursor that is not one of the export.
var errExportCursor = &strict.ParamError{Name: web.CursorName, Problem: "is not valid; begin the export again"}

// Export is a request for an export of orders.
type Export struct {
	order.ExportQuery
	// Market says that the summary has the position of the feed of all merchants instead
	// of the merchant's own; on a cluster it has none.
	Market bool

	resumed bool
	// after and history are the position of the feed before the first page of the
	// export, also if another request has read that page. In the feed of all merchants,
	// history is the text of the cursor, a tilde and the history; empty: there is no feed.
	after   int64
	history string
}

// ParseExport parses the query of a merchant's export. Every error is a
// *strict.ParamError.
func (p ListParams) ParseExport(r *web.Request) (Export, error) {
	query := web.ParseQuery(r)
	filter := p.parseFilter(query)
	export := Export{ExportQuery: order.ExportQuery{MerchantID: r.Caller.MerchantID, From: filter.From, To: filter.To}}
	if len(filter.States) > 0 {
		export.State = filter.States[0]
	}
	export.ParseCursor(query)
	return export, query.Err()
}

// ParseCursor parses the cursor of an export whose other fields are set.
func (e *Export) ParseCursor(query *web.Query) {
	text := query.Text(web.CursorName)
	if text == "" {
		return
	}
	// The value of the header has a period itself.
	parts := strings.SplitN(text, ".", 3)
	if len(parts) < 2 || !web.DecodeCursor(parts[0], e.list(parts[1]), &e.after) {
		query.Refuse(errExportCursor.Name, errExportCursor.Problem)
		return
	}
	e.resumed, e.history = true, parts[1]
	if len(parts) == 3 {
		e.After = parts[2]
	}
}

// list identifies the export in a history for its cursors.
func (e *Export) list(history string) string {
	return fmt.Sprintf("export %d %d %d %d %s", e.MerchantID, e.State, e.From, e.To, history)
}

// exportSummary is the last line of an export.
type exportSummary struct {
	Summary  exportCounts `json:"summary"`
	Complete bool         `json:"complete"`
	After    any          `json:"after,omitempty"` // number, or cursor of the feed of all merchants; nil: there is no feed
	History  string       `json:"history,omitempty"`
	Problem  string       `json:"problem,omitempty"` // why it is not complete
}

type exportCounts struct {
	Orders int64 `json:"orders"` // lines of this response
}

// Serve sends the orders of an export, one a line as view returns them, and a summary.
func (e *Export) Serve(s *web.Stream, orders *order.Service, view func(*order.Order) (any, error)) error {
	if err := e.begin(s.Context(), orders); err != nil {
		return err
	}
	s.ResponseHeader().Set(exportCursorHeader, web.EncodeCursor(e.list(e.history), e.after)+"."+e.history)
	if s.Method == http.MethodHead {
		return s.Flush()
	}
	var summary exportSummary
	switch {
	case !e.Market:
		summary.After, summary.History = e.after, e.history
	case e.history != "":
		summary.After, summary.History, _ = strings.Cut(e.history, "~")
	}
	err := e.sendOrders(s, orders, &summary.Summary.Orders, view)
	if summary.Complete = err == nil; err != nil {
		if summary.Summary.Orders == 0 && !s.Stopping() {
			s.ResponseHeader().Del(exportCursorHeader)
			return err
		}
		summary.Problem = exportProblem(s, err)
	}
	if writeErr := errors.Join(s.WriteLine(&summary), s.Flush()); writeErr != nil || ended(s, err) {
		return nil // the client disconnected, or knows the reason
	}
	return err
}

// begin reads the position of the feed, unless another request has.
func (e *Export) begin(ctx context.Context, orders *order.Service) error {
	if e.resumed {
		return nil
	}
	if !e.Market {
		feed, err := orders.Events(ctx, e.MerchantID, order.FeedQuery{Latest: true})
		e.after, e.history = feed.Next, feed.History
		return err
	}
	feed, err := orders.MarketEvents(ctx, order.MarketQuery{FeedQuery: order.FeedQuery{Latest: true}})
	if errors.Is(err, order.ErrOnCluster) {
		return nil
	}
	e.history = MarketCursor(feed.Cursor) + "~" + feed.History
	return err
}

// sendOrders sends the orders of an export and counts them. Before each page but the
// first it checks the token again.
func (e *Export) sendOrders(s *web.Stream, orders *order.Service, sent *int64, view func(*order.Order) (any, error)) error {
	for page, err := range orders.Export(s.Context(), e.ExportQuery) {
		if errors.Is(err, order.ErrNotFound) {
			return errExportCursor
		}
		if err == nil && *sent > 0 {
			err = s.Reauthenticate(make(http.Header))
		}
		if err != nil {
			return err
		}
		for i := range page {
			if err := s.SendLine(view(&page[i])); err != nil {
				return err
			}
			*sent++
		}
	}
	return nil
}

// ended reports whether an export ended early for a reason that is no failure.
func ended(s *web.Stream, err error) bool {
	return s.Context().Err() != nil || s.Ended(err) != ""
}

// exportProblem returns what ended an export early, for its client.
func exportProblem(s *web.Stream, err error) string {
	problem := s.Ended(err)
	switch {
	case problem != "":
	case errors.Is(err, order.ErrUnavailable):
		problem = "The service cannot read orders for now."
	default:
		problem = "The service failed."
	}
	return problem + " Resume with the cursor of the last order."
}
