package gateway

import (
	"context"

	"collie/internal/face/cli/notes"
	"collie/internal/face/web"
	notesadmin "collie/internal/source/siyuan/admin"
)

// This file lets the pages manage connections to SiYuan.

// kernelAPI implements [web.Kernels] with the code of collie siyuan connection.
type kernelAPI struct {
	desk   notes.Desk
	s      *serving
	reread func(context.Context) error
}

// Kernels returns the saved connections.
func (a kernelAPI) Kernels() (web.KernelList, error) {
	saved, err := a.desk.Kernels()
	if err != nil {
		return web.KernelList{}, err
	}
	out := web.KernelList{Kernels: []web.Kernel{}, Current: saved.Current, Vault: a.s.app.Notes.Vault(), File: saved.File, Fixed: saved.Fixed}
	if out.Current == "" && out.Vault != "" {
		out.Current = notesadmin.Vault
	}
	if err := a.s.app.Notes.Missing(); err != nil {
		out.Missing = err.Error()
	}
	for _, k := range saved.List {
		out.Kernels = append(out.Kernels, web.Kernel(k))
	}
	return out, nil
}

// SaveKernel saves a connection.
func (a kernelAPI) SaveKernel(ctx context.Context, name string, k *web.NewKernel) (web.KernelFacts, error) {
	facts, file, err := a.desk.Save(ctx, notes.Wanted{Name: name, URL: k.URL, Token: k.Token, Untested: k.Untested})
	if err != nil {
		return web.KernelFacts{}, err
	}
	if err := a.changed(ctx, "siyuan connection set", name, file); err != nil || facts == nil {
		return web.KernelFacts{}, err
	}
	return web.KernelFacts(*facts), nil
}

// TestKernel asks the kernel of a connection who it is.
func (a kernelAPI) TestKernel(ctx context.Context, name string) (web.KernelFacts, error) {
	facts, err := a.desk.Try(ctx, name)
	return web.KernelFacts(facts), err
}

// UseKernel chooses the connection that tools work with.
func (a kernelAPI) UseKernel(ctx context.Context, name string) error {
	file, err := a.desk.Use(ctx, name)
	if err != nil {
		return err
	}
	return a.changed(ctx, "siyuan connection use", name, file)
}

// RemoveKernel removes a connection.
func (a kernelAPI) RemoveKernel(ctx context.Context, name string) error {
	file, err := a.desk.Remove(ctx, name)
	if err != nil {
		return err
	}
	return a.changed(ctx, "siyuan connection remove", name, file)
}

// changed records a change and returns once it is in effect. It also has the app read secrets again, because the token of
// a connection may change while the settings stay the same.
func (a kernelAPI) changed(ctx context.Context, command, name, file string) error {
	a.s.OnRecord(ctx, a.s.cfg, command, map[string]any{"setting": "siyuan.connections", "name": name, "file": file})
	if err := a.reread(ctx); err != nil {
		return err
	}
	a.s.app.RereadValues()
	return nil
}
