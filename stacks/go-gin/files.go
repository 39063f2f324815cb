package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"github.com/gin-gonic/gin"
)

// staticFiles serves the files of a folder. Gin's own Static makes no ETags; these are made of a file's time and length.
type staticFiles struct {
	dir string
}

func (h staticFiles) serve(c *gin.Context) {
	// No name leads out of the folder, not even by a symbolic link.
	file, err := os.OpenInRoot(h.dir, strings.TrimPrefix(c.Param("name"), "/"))
	if errors.Is(err, fs.ErrPermission) {
		c.AbortWithStatus(http.StatusForbidden)
		return
	}
	if err != nil {
		c.AbortWithStatus(http.StatusNotFound)
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		c.AbortWithError(http.StatusInternalServerError, fmt.Errorf("look at a file: %w", err))
		return
	}
	if !info.Mode().IsRegular() {
		c.AbortWithStatus(http.StatusNotFound)
		return
	}
	c.Header("ETag", fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size()))
	http.ServeContent(c.Writer, c.Request, info.Name(), info.ModTime(), file)
}
