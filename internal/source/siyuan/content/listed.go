package content

import (
	"strings"

	"collie/internal/source/siyuan/kernel"
)

// ListedDocument is a document in a list of those right below a notebook or another document.
type ListedDocument struct {
	ID           kernel.ID `json:"id" about:"document id"`
	Notebook     kernel.ID `json:"notebook" about:"notebook id" verbose:"yes"`
	Path         string    `json:"path" about:"storage path"`
	HPath        string    `json:"hPath" about:"human path in the notebook"`
	Name         string    `json:"name" about:"title"`
	Icon         string    `json:"icon" about:"icon" verbose:"yes"`
	SubFileCount int       `json:"subFileCount" about:"documents right below it"`
}

// ListDocuments makes a list of documents of a notebook that are right below a human path; not nil.
func ListDocuments(notebook kernel.ID, above string, documents []kernel.Document) []ListedDocument {
	out := make([]ListedDocument, 0, len(documents))
	for _, d := range documents {
		out = append(out, ListedDocument{d.ID, notebook, d.Path, strings.TrimSuffix(above, "/") + "/" + d.Name, d.Name, d.Icon, d.SubFileCount})
	}
	return out
}
