package web

import (
	"context"
	"net/http"
)

// Check is one thing that the doctor has looked at.
type Check struct {
	Name   string `json:"name"`
	Health string `json:"health"` // ok, warn or fail
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"` // what a person can do
}

// Doctor looks for what could keep the gateway from working.
type Doctor func(context.Context) []Check

// doctorRoutes returns the routes of the doctor.
func doctorRoutes() []Route {
	return []Route{
		{"GET /api/v1/doctor", ClassManage, (*api).doctor, about{summary: "Look for what could keep the gateway from working, as collie doctor does", out: checks{}}},
	}
}

type checks struct {
	OK     bool    `json:"ok"` // false if something has to be repaired
	Checks []Check `json:"checks"`
}

func (a *api) doctor(w http.ResponseWriter, r *http.Request) error {
	out := checks{true, append([]Check{}, a.opts.Doctor(r.Context())...)}
	for _, c := range out.Checks {
		out.OK = out.OK && c.Health != "fail"
	}
	return answer(w, out)
}
