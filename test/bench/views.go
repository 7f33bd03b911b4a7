package main

import (
	"context"

	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
	"collie/test/catalogs"
)

// budgetOfAuto is the default budget for lists, in bytes.
const budgetOfAuto = 16 << 10

// views measures the size of the list in each view, with fifty servers of twenty recorded tools. It does not
// depend on the machine.
func (b *bench) views(ctx context.Context) error {
	servers := catalogs.Fifty()
	sources := make([]tool.Source, len(servers))
	for i, s := range servers {
		sources[i] = tooltest.NewFake(s.Name, tool.Offer{Tools: []tool.Tool{s.Tool()}})
	}
	c := source.New(sources, source.Options{Profiles: map[string]source.Profile{
		"flat": {View: tool.Flat}, "grouped": {View: tool.Grouped}, "search": {View: tool.Search},
		"auto": {Default: tool.Auto, Budget: budgetOfAuto},
	}})
	defer c.Close()
	size := func(profile string) float64 {
		list, _ := c.List(ctx, tool.ListTools, profile)
		return float64(len(list))
	}
	const what = "list of 50 public servers × 20 tools, "
	flat, frame := size("flat"), float64(len(`{"tools":[,,]}`))
	b.add(what+"flat", inBytes, []float64{flat}, bound{})
	b.add(what+"grouped ÷ flat", percent, []float64{100 * size("grouped") / flat}, atMost(8))
	b.add(what+"search", inBytes, []float64{size("search") - frame}, atMost(2<<10+32*float64(len(servers))))
	b.add(what+"auto", inBytes, []float64{size("auto")}, atMost(budgetOfAuto))
	return nil
}
