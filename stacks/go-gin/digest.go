package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"

	"github.com/gin-gonic/gin"
)

type digestHandler struct {
	blobPath string
}

type digestQuery struct {
	Rounds uint32 `form:"rounds" binding:"required,max=1000000"`
}

func (h digestHandler) serve(c *gin.Context) {
	var query digestQuery
	if c.BindQuery(&query) != nil {
		return // It has answered 400.
	}
	blob, err := os.ReadFile(h.blobPath)
	if err != nil {
		c.AbortWithError(http.StatusInternalServerError, fmt.Errorf("read the blob: %w", err))
		return
	}
	digest := sha256.Sum256(blob)
	for range query.Rounds - 1 {
		digest = sha256.Sum256(digest[:])
	}
	c.String(http.StatusOK, base64.StdEncoding.EncodeToString(digest[:]))
}
