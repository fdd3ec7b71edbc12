//go:build !race

package instances

// syncedOrders is how many orders TestSyncBesideWriters copies.
const syncedOrders = 100_000
