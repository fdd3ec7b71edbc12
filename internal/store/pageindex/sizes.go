package pageindex

// Sizes says how large buckets are and how much is read at once.
type Sizes struct {
	// BucketOrders is how many orders a bucket has after a split. A page whose
	// offset would be more than twice as many causes a split.
	BucketOrders int64
	// MaxBuckets bounds the buckets of a merchant, about: one with more orders
	// than fit into so many gets larger buckets.
	MaxBuckets int64
	// MinKeys and MaxKeys bound how many keys of orders one split reads.
	MinKeys, MaxKeys int64
	// MaxDeltas is how many events an index reads to reach a newer version, and
	// one more for each bucket that a split has added. An index that is further
	// behind is loaded again.
	MaxDeltas int
}

// DefaultSizes are the sizes of the service. Skipping an order costs 0.1 us,
// where reading a page of 10 costs 30 us and more. A bucket takes 64 bytes.
// Reading a key costs 0.4 to 0.8 us. Loading reads a row for each day and
// state, 12,000 for three years.
var DefaultSizes = Sizes{BucketOrders: 32, MaxBuckets: 100_000, MinKeys: 2_000, MaxKeys: 50_000, MaxDeltas: 2_000}
