package main

import (
	"context"
	"encoding/json"
	"time"

	"collie/internal/source/find"
	"collie/test/catalogs"
)

// manyActions is the number of actions with which the speed of finding is measured.
const manyActions = 1000

// finding searches the tools of public servers with the recorded questions, counts the right answers, which do not depend
// on the machine, and measures how long an answer takes.
func (b *bench) finding(context.Context) error {
	for _, q := range []struct {
		file, what  string
		first, five bound
	}{
		{file: "english", what: "English questions", first: atLeast(70), five: atLeast(90)},
		{file: "chinese", what: "Chinese questions, Chinese definitions", first: atLeast(70), five: atLeast(90)},
		{file: "chinese-over-english", what: "Chinese questions, English definitions", first: bound{}, five: bound{}},
		{file: "held-back", what: "questions held back", first: bound{}, five: bound{}},
	} {
		all, first, few, err := catalogs.Found("questions/" + q.file)
		if err != nil {
			return err
		}
		b.add("right answer first, "+q.what, percent, []float64{100 * float64(first) / float64(all)}, q.first)
		b.add("right answer among five, "+q.what, percent, []float64{100 * float64(few) / float64(all)}, q.five)
	}
	docs, _ := catalogs.Documents()
	for i := 0; len(docs) < manyActions; i++ {
		again := docs[i]
		again.Server += " again"
		docs = append(docs, again)
	}
	questions, _, err := catalogs.Questions("dev/english")
	if err != nil {
		return err
	}
	find.New(docs).Search(questions[0], 1) // the tables of words are made once
	var index, took, parts []float64
	for range b.plan.rounds {
		begun := time.Now()
		x := find.New(docs)
		made := time.Since(begun)
		begun = time.Now()
		if err := parseDefinitions(); err != nil {
			return err
		}
		index, parts = append(index, micros(made)/1000), append(parts, float64(made)/float64(time.Since(begun)))
		each := make([]time.Duration, len(questions))
		for i, q := range questions {
			begun := time.Now()
			x.Search(q, 5)
			each[i] = time.Since(begun)
		}
		took = append(took, micros(percentile(each, 50))/1000)
	}
	b.add("p50 of a question to 1,000 actions", milliseconds, took, atMost(2))
	b.add("index of 1,000 actions", milliseconds, index, atMost(50))
	b.add("index of 1,000 actions ÷ parsing 586 definitions", ratio, parts, bound{})
	return nil
}

// parseDefinitions parses the recorded definitions as JSON, to measure the speed of the machine.
func parseDefinitions() error {
	for _, s := range catalogs.Servers() {
		for _, def := range s.Tools {
			var v any
			if err := json.Unmarshal(def, &v); err != nil {
				return err
			}
		}
	}
	return nil
}
