package main

import "github.com/gofiber/fiber/v3"

// payloadWorker sends requests to a goroutine that hands the payload over through channels.
type payloadWorker struct {
	requests chan<- payloadRequest
}

type payloadRequest struct {
	reply chan<- []byte
}

// startPayloadWorker starts a goroutine that works as long as the process.
func startPayloadWorker() payloadWorker {
	requests := make(chan payloadRequest)
	go func() {
		for request := range requests {
			request.reply <- payload
		}
	}()
	return payloadWorker{requests}
}

func (p payloadWorker) handle(c fiber.Ctx) error {
	// Room for the reply, so that the worker does not wait for the handler.
	reply := make(chan []byte, 1)
	p.requests <- payloadRequest{reply}
	return sendBytes(c, <-reply)
}
