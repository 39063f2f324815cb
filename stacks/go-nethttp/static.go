package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
)

// staticFiles serves the files of a folder. net/http makes no ETags, so they are made of a file's time and length.
type staticFiles struct {
	dir string
}

func (h staticFiles) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// No name leads out of the folder, not even by a symbolic link.
	file, err := os.OpenInRoot(h.dir, r.PathValue("name"))
	if errors.Is(err, fs.ErrPermission) {
		http.Error(w, http.StatusText(http.StatusForbidden), http.StatusForbidden)
		return
	}
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		respondInternalError(w, "look at a file", err)
		return
	}
	if !info.Mode().IsRegular() {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size()))
	http.ServeContent(w, r, info.Name(), info.ModTime(), file)
}
