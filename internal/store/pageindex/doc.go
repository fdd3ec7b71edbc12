// Package pageindex finds any page of a merchant's order list, and the exact
// total, without counting or skipping rows in the database.
//
// Index counts a merchant's orders by state in buckets: one for each day, or
// many for a day with many orders. From these counts follow the total of any
// filter and the bucket in which a page begins, in a few microseconds. A
// statement then reads the page from that bucket's key on and skips less than
// a bucket.
//
// An Index is right as of one data version. Events bring it to the next one.
// Shared adds the locks that concurrent requests need and reads from a Source
// what is missing. Cache holds the indexes of the merchants in use.
//
// The package has no SQL. README.md shows the data structure.
package pageindex
