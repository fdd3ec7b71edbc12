package commands_test

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/testenv"
)

// assist starts the command mcp and returns a client's session with it. It also checks
// that the command ends by itself when the session is closed.
func (r remote) assist(t *testing.T, token string) *mcp.ClientSession {
	t.Helper()
	cmd := apptest.Command(t, "mcp")
	cmd.Env = append(cmd.Environ(), "MERCHANT_ORDERS_ADDRESS="+r.address, "MERCHANT_ORDERS_TOKEN="+token)
	cmd.Stderr = io.Discard
	assistant := mcp.NewClient(&mcp.Implementation{Name: "assistant", Version: "1"}, nil)
	session, err := assistant.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		testenv.Equal(t, "the command's error", nil, session.Close())
	})
	return session
}

// call calls a tool and returns its result, or the text of its error.
func call(t *testing.T, session *mcp.ClientSession, tool string, in map[string]any, out any) string {
	t.Helper()
	got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: in})
	if err != nil {
		return err.Error()
	}
	text := got.Content[0].(*mcp.TextContent).Text
	if got.IsError {
		return text
	}
	if err := json.Unmarshal([]byte(text), out); err != nil {
		t.Fatalf("%s: %v in %s", tool, err, text)
	}
	return ""
}

// TestAssistant works with orders as an assistant does.
func TestAssistant(t *testing.T) {
	t.Parallel()
	server, r := startRemote(t, 30)
	session := r.assist(t, r.token)
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		writes := strings.HasPrefix(tool.Name, "accept_") || strings.HasPrefix(tool.Name, "reject_")
		if hints := tool.Annotations; hints.ReadOnlyHint == writes || (hints.DestructiveHint != nil && *hints.DestructiveHint) != writes {
			t.Errorf("%s has the hints %+v", tool.Name, hints)
		}
	}
	none := map[string]any{}
	var end, changes struct {
		Events  []struct{ Type, OrderReference string }
		More    bool
		Next    int64
		History string
	}
	if problem := call(t, session, "list_changes", none, &end); problem != "" || end.Next == 0 || end.History == "" {
		t.Fatalf("%s, %+v", problem, end)
	}
	var list struct {
		Orders []struct {
			ID        string
			LineItems []any
		}
		More bool
	}
	if problem := call(t, session, "list_unanswered_orders", map[string]any{"limit": 2}, &list); problem != "" || len(list.Orders) != 2 || !list.More || len(list.Orders[0].LineItems) == 0 {
		t.Fatalf("%s, %+v", problem, list)
	}
	if problem := call(t, session, "list_orders", none, &list); problem != "" || len(list.Orders) != 20 || !list.More {
		t.Errorf("%s, %d orders", problem, len(list.Orders))
	}

	if problem := call(t, session, "list_orders_without_invoice", map[string]any{"limit": 1}, &list); problem != "" || len(list.Orders) != 1 || !list.More {
		t.Errorf("%s, %+v", problem, list)
	}

	first := ingesttest.Reference(1)
	testenv.Send(t, r.token, "PATCH", r.address+"/v2/orders/"+first, `{"merchantReference":"2026/17"}`).WantStatus(t, 200)
	if problem := call(t, session, "find_orders", map[string]any{"number": "2026/17"}, &list); problem != "" || len(list.Orders) != 1 || list.Orders[0].ID != first || list.More {
		t.Errorf("%s, %+v", problem, list)
	}
	if problem := call(t, session, "list_changes", none, &end); problem != "" {
		t.Error(problem)
	}
	var read struct {
		Order struct{ ID, State string }
		Tag   string
	}
	if problem := call(t, session, "get_order", map[string]any{"reference": first}, &read); problem != "" || read.Order.ID != first || read.Tag == "" {
		t.Fatalf("%s, %+v", problem, read)
	}
	var answered struct {
		State    string
		Replayed bool
	}
	accept := map[string]any{"reference": first, "ifMatch": read.Tag}
	for _, replayed := range []bool{false, true} {
		if problem := call(t, session, "accept_order", accept, &answered); problem != "" || answered.State != "in-processing" || answered.Replayed != replayed {
			t.Errorf("%s, %+v", problem, answered)
		}
	}
	reject := map[string]any{"reference": first, "ifMatch": read.Tag, "reason": "damaged"}
	testenv.Contains(t, "answer with an old tag", call(t, session, "reject_order", reject, &answered), "status 412")
	if problem := call(t, session, "list_changes", map[string]any{"after": end.Next, "history": end.History}, &changes); problem != "" ||
		len(changes.Events) != 1 || changes.Events[0].OrderReference != first || changes.More || changes.Next != end.Next+1 {
		t.Errorf("%s, %+v", problem, changes)
	}
	fromStart := map[string]any{"after": 0, "history": end.History} // what the first call returns of an empty feed
	if problem := call(t, session, "list_changes", fromStart, &changes); problem != "" || len(changes.Events) != 20 || !changes.More {
		t.Errorf("%s, %+v", problem, changes)
	}
	for _, wrong := range []struct {
		tool string
		in   map[string]any
		want string
	}{
		{"reject_order", map[string]any{"reference": first}, "ifMatch"},
		{"reject_order", map[string]any{"reference": first, "ifMatch": ""}, "ifMatch must be the tag"},
		{"accept_order", map[string]any{"reference": ingesttest.Reference(2), "ifMatch": "*"}, "ifMatch must be the tag"},
		{"get_order", map[string]any{"reference": "SF-0"}, "status 404"},
		{"list_orders", map[string]any{"from": "yesterday"}, "from must be a day such as 2026-11-20"},
		{"find_orders", map[string]any{"number": ""}, "the number is empty"},
		{"list_orders", map[string]any{"limit": 101}, "limit must be from 1 to 100"},
		{"list_changes", map[string]any{"after": end.Next, "history": "other"}, "the history is"},
	} {
		if problem := call(t, session, wrong.tool, wrong.in, &struct{}{}); !strings.Contains(problem, wrong.want) || strings.Contains(problem, r.token) {
			t.Errorf("%s %v: %q, want it to contain %q", wrong.tool, wrong.in, problem, wrong.want)
		}
	}

	// The scopes decide which tools exist.
	session = r.assist(t, server.Folder.Token(t, "--merchant", "355", "--scopes", "orders:read"))
	if tools, err = session.ListTools(t.Context(), nil); err != nil || slices.ContainsFunc(tools.Tools, func(tool *mcp.Tool) bool { return !tool.Annotations.ReadOnlyHint }) {
		t.Errorf("a token for reading has the tools %v, %v", tools, err)
	}
	r.token = "mo_" + strings.Repeat("x", 39)
	r.run(t, "", "mcp").WantText(t, 5, "status 401")
	r.token = server.Folder.Token(t, "--merchant", "355", "--scopes", "orders:write")
	r.run(t, "", "mcp").WantText(t, 5, "the scope orders:read")
}
