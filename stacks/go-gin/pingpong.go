package main

import "github.com/gin-gonic/gin"

// payloadWorker is a goroutine that hands the payload over through channels.
type payloadWorker struct {
	requests chan payloadRequest
	stopped  chan struct{}
}

type payloadRequest struct {
	reply chan<- []byte
}

func newPayloadWorker() *payloadWorker {
	worker := &payloadWorker{
		requests: make(chan payloadRequest),
		stopped:  make(chan struct{}),
	}
	go worker.work()
	return worker
}

func (p *payloadWorker) work() {
	for {
		select {
		case request := <-p.requests:
			request.reply <- payload
		case <-p.stopped:
			return
		}
	}
}

func (p *payloadWorker) stop() {
	close(p.stopped)
}

func (p *payloadWorker) serve(c *gin.Context) {
	// Room for the reply, so that a handler that has gone never blocks the worker.
	reply := make(chan []byte, 1)
	select {
	case p.requests <- payloadRequest{reply}:
		respondPayload(c, <-reply)
	case <-c.Request.Context().Done():
	}
}
