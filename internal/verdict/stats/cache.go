package stats

import "sync"

// mostCached is the largest number of results that a cache holds. A campaign needs a few hundred.
const mostCached = 4096

// Cache holds the results of a function that takes long. It is safe for concurrent use. It drops all results when it is full.
type Cache[K comparable, V any] struct {
	mutex   sync.Mutex
	results map[K]V
}

// Get returns the result for a key. It calls compute if the result is unknown.
func (c *Cache[K, V]) Get(key K, compute func() V) V {
	c.mutex.Lock()
	known, ok := c.results[key]
	c.mutex.Unlock()
	if ok {
		return known
	}
	result := compute()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.results == nil || len(c.results) >= mostCached {
		c.results = map[K]V{}
	}
	c.results[key] = result
	return result
}
