package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

const (
	upstreamTimeout  = 10 * time.Second
	maxIdleUpstreams = 4096
)

type proxyHandler struct {
	client *http.Client
	url    string
}

// newUpstreamClient keeps every connection it opens; the default transport keeps two per host.
func newUpstreamClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns = maxIdleUpstreams
	transport.MaxIdleConnsPerHost = maxIdleUpstreams
	return &http.Client{Transport: transport, Timeout: upstreamTimeout}
}

func (h proxyHandler) serve(c *gin.Context) {
	contentType, body, err := h.fetch(c.Request.Context())
	if err != nil {
		c.AbortWithError(http.StatusBadGateway, fmt.Errorf("ask the upstream: %w", err))
		return
	}
	c.Data(http.StatusOK, cmp.Or(contentType, gin.MIMEPlain), body)
}

// fetch reads the whole body: it is short, and a failure on the way must become a 502.
func (h proxyHandler) fetch(ctx context.Context) (contentType string, body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url, nil)
	if err != nil {
		return "", nil, err
	}
	response, err := h.client.Do(request)
	if err != nil {
		return "", nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	if err != nil {
		return "", nil, err
	}
	if response.StatusCode != http.StatusOK {
		return "", nil, fmt.Errorf("it answered %s", response.Status)
	}
	return response.Header.Get("Content-Type"), body, nil
}
