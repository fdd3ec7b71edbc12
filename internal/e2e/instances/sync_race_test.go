//go:build race

package instances

// syncedOrders is how many orders TestSyncBesideWriters copies. With the race
// detector SQLite takes ten times as long: 100,000 are copied without it.
const syncedOrders = 20_000
