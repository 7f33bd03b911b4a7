// The names of models, as PROVIDER/MODEL. Providers are asked when a person is about to choose one, and at no other time.

import { call } from '../services/api'

class Names {
  all: string[] = $state.raw([])
}

export const names = new Names()

const fresh = 60_000 // ms
let asked = -fresh

/** loadNames asks the providers, unless that was done a moment ago. Without an answer the old names stay. */
export async function loadNames(): Promise<void> {
  if (performance.now() - asked < fresh) return
  asked = performance.now()
  try {
    names.all = (await call<{ models: string[] }>('GET', '/models')).models
  } catch {
    asked = -fresh
  }
}

/** forgetNames has the providers asked again the next time. */
export function forgetNames(): void {
  asked = -fresh
}
