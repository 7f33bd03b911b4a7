package admin

import (
	"context"

	"collie/internal/source/siyuan/panel"
)

// PanelPlace tells the panel in SiYuan's window where the gateway is.
type PanelPlace = panel.Place

// PanelReport is what was done with the files of the panel.
type PanelReport = panel.Report

// States of files in a [PanelReport].
const (
	PanelWritten = panel.Written
	PanelRemoved = panel.Removed
)

// KernelAddress returns the address of the kernel, as its window has it.
func (n *Notes) KernelAddress() string { return n.source.Kernel().Base() }

// InstallPanel puts the panel into the workspace; see [panel.Install].
func (n *Notes) InstallPanel(ctx context.Context, place PanelPlace, version string) (PanelReport, error) {
	source, err := n.verifiedSource(ctx)
	if err != nil {
		return PanelReport{}, err
	}
	return panel.Install(ctx, source.Kernel(), place, version)
}

// RemovePanel takes the panel out of the workspace; see [panel.Remove].
func (n *Notes) RemovePanel(ctx context.Context) (PanelReport, error) {
	source, err := n.verifiedSource(ctx)
	if err != nil {
		return PanelReport{}, err
	}
	return panel.Remove(ctx, source.Kernel())
}
