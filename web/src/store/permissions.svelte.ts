// What a person has allowed for more than one call, and the browsers in which one has signed in.

import { call } from '../services/api'
import { whenConnected } from './gateway.svelte'

export interface Grant {
  id: string
  scope: 'turn' | 'session' | 'always'
  session?: string
  principal: string
  tool: string
  action: string
  risk: string
  constraint: { kind: string; value?: string; name?: string }
  created: string
  expires?: string
  used?: string
  uses: number
}

export interface Browser {
  id: string
  name: string
  host: string
  made: string
  used: string
}

export interface Link {
  address: string
  until: string
}

class Permissions {
  grants: Grant[] | null = $state.raw(null)
  browsers: Browser[] = $state.raw([])
}

export const permissions = new Permissions()

export async function loadPermissions(): Promise<void> {
  const [granted, known] = await Promise.all([call<{ grants: Grant[] }>('GET', '/grants'), call<{ browsers: Browser[] | null }>('GET', '/browsers')])
  permissions.grants = granted.grants
  permissions.browsers = known.browsers ?? []
}

/** revoke takes a grant back. */
export async function revoke(id: string): Promise<void> {
  try {
    await call('DELETE', `/grants/${encodeURIComponent(id)}`)
  } finally {
    await loadPermissions() // it may have expired meanwhile
  }
}

/** signOutBrowser ends the sign-in of a browser. */
export async function signOutBrowser(id: string): Promise<void> {
  try {
    await call('DELETE', `/browsers/${encodeURIComponent(id)}`)
  } finally {
    await loadPermissions()
  }
}

/** newLink makes a link with which one more browser can sign in. */
export async function newLink(): Promise<Link> {
  return call<Link>('POST', '/browsers/links', {})
}

whenConnected(loadPermissions)
