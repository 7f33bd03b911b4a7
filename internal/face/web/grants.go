package web

import (
	"context"
	"net/http"

	"collie/internal/pipeline/gate/grant"
)

// Grants is what people have allowed for more than one call.
type Grants interface {
	List(ctx context.Context) ([]grant.Grant, error)
	// Revoke takes a grant back. The error for an unknown id is of kind NotFound.
	Revoke(ctx context.Context, id string) (grant.Grant, error)
}

// grantRoutes returns the routes of grants. They need the control key: what a person has allowed is nobody else's to see
// or to change.
func grantRoutes() []Route {
	return []Route{
		{"GET /api/v1/grants", ClassManage, (*api).grants, about{summary: "What people have allowed for more than one call, and how often that was used", out: grantList{}}},
		{"DELETE /api/v1/grants/{id}", ClassManage, (*api).revokeGrant, about{summary: "Take a grant back: calls that it covered are asked about again", out: grant.Grant{}}},
	}
}

type grantList struct {
	Grants []grant.Grant `json:"grants"`
}

func (a *api) grants(w http.ResponseWriter, r *http.Request) error {
	all, err := a.opts.Grants.List(r.Context())
	if err != nil {
		return err
	}
	return answer(w, grantList{append([]grant.Grant{}, all...)})
}

func (a *api) revokeGrant(w http.ResponseWriter, r *http.Request) error {
	was, err := a.opts.Grants.Revoke(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return answer(w, was)
}
