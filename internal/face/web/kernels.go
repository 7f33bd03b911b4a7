package web

import (
	"context"
	"net/http"
)

// Kernels manages the connections to SiYuan. Changes are in effect when a method returns.
type Kernels interface {
	Kernels() (KernelList, error)
	// SaveKernel saves a new or changed connection after testing it.
	SaveKernel(ctx context.Context, name string, k *NewKernel) (KernelFacts, error)
	TestKernel(ctx context.Context, name string) (KernelFacts, error)
	// UseKernel selects a connection; "vault" is the built-in vault.
	UseKernel(ctx context.Context, name string) error
	RemoveKernel(ctx context.Context, name string) error
}

// KernelList lists the connections and which one is used.
type KernelList struct {
	Kernels []Kernel `json:"connections"`
	Current string   `json:"current"`           // selected connection; vault for the built-in vault
	Vault   string   `json:"vault,omitempty"`   // file of the built-in vault, if that is in use
	Missing string   `json:"missing,omitempty"` // why the notes are not available
	File    string   `json:"file,omitempty"`    // file of another program that has the connections, which must be changed there
	Fixed   string   `json:"fixed,omitempty"`   // environment variable that takes precedence over all connections
}

// Kernel is a saved connection. Its token is never shown.
type Kernel struct {
	Name      string `json:"name"`
	URL       string `json:"url"`
	Token     string `json:"token"` // configured, empty, or its origin
	Workspace string `json:"workspace,omitempty"`
}

// NewKernel is a connection to save.
type NewKernel struct {
	URL   string  `json:"url,omitempty"`   // empty: unchanged
	Token *string `json:"token,omitempty"` // missing: unchanged
	// Untested skips the test of the connection.
	Untested bool `json:"untested,omitempty"`
}

// KernelFacts is what a kernel reports about itself.
type KernelFacts struct {
	Version   string `json:"version"` // empty if unknown
	Workspace string `json:"workspace,omitempty"`
	Notebooks int    `json:"notebooks"`
	ReadOnly  bool   `json:"readOnly,omitempty"`
}

// kernelRoutes returns the routes of connections to SiYuan.
func kernelRoutes() []Route {
	return []Route{
		{"GET /api/v1/siyuan/connections", ClassManage, (*api).kernels, about{summary: "The connections to SiYuan, and which is used; never their tokens", out: KernelList{}}},
		{"PUT /api/v1/siyuan/connections/{name}", ClassManage, (*api).saveKernel, about{summary: "Save a connection to SiYuan, or change one, once its kernel has answered", in: NewKernel{}, out: KernelFacts{}}},
		{"DELETE /api/v1/siyuan/connections/{name}", ClassManage, (*api).removeKernel, about{summary: "Remove a connection to SiYuan, and the secret of its token"}},
		{"POST /api/v1/siyuan/connections/{name}/test", ClassManage, (*api).testKernel, about{summary: "Ask the kernel of a connection who it is", out: KernelFacts{}}},
		{"PUT /api/v1/siyuan/current", ClassManage, (*api).useKernel, about{summary: "Choose the connection that tools work with, or the built-in vault (vault)", in: kernelName{}}},
	}
}

type kernelName struct {
	Name string `json:"name"`
}

func (a *api) kernels(w http.ResponseWriter, _ *http.Request) error {
	list, err := a.opts.Kernels.Kernels()
	if err != nil {
		return err
	}
	return answer(w, list)
}

func (a *api) saveKernel(w http.ResponseWriter, r *http.Request) error {
	var body NewKernel
	if err := decodeBody(r, &body, `{"url":…,"token":…}`); err != nil {
		return err
	}
	facts, err := a.opts.Kernels.SaveKernel(r.Context(), r.PathValue("name"), &body)
	if err != nil {
		return err
	}
	return answer(w, facts)
}

func (a *api) testKernel(w http.ResponseWriter, r *http.Request) error {
	facts, err := a.opts.Kernels.TestKernel(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	return answer(w, facts)
}

func (a *api) removeKernel(w http.ResponseWriter, r *http.Request) error {
	return answerNoContent(w, a.opts.Kernels.RemoveKernel(r.Context(), r.PathValue("name")))
}

func (a *api) useKernel(w http.ResponseWriter, r *http.Request) error {
	var body kernelName
	if err := decodeBody(r, &body, `{"name":…}`); err != nil {
		return err
	}
	return answerNoContent(w, a.opts.Kernels.UseKernel(r.Context(), body.Name))
}
