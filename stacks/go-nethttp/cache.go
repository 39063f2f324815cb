package main

import (
	"context"
	"sync"
)

// cache keeps the first value that fill returns without an error.
type cache[T any] struct {
	fill   func(context.Context) (T, error)
	mutex  sync.Mutex
	filled bool
	value  T
}

func (c *cache[T]) get(ctx context.Context) (T, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !c.filled {
		value, err := c.fill(ctx)
		if err != nil {
			return value, err
		}
		c.value, c.filled = value, true
	}
	return c.value, nil
}
