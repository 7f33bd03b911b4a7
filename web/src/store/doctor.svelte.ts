// What the doctor has found.

import { call } from '../services/api'
import { attempt } from './gateway.svelte'

export interface Check {
  name: string
  health: 'ok' | 'warn' | 'fail'
  detail: string
  hint?: string
}

class Doctor {
  checks: Check[] | null = $state.raw(null)
  at = $state('')
  busy = $state(false)
}

export const doctor = new Doctor()

export async function examine(): Promise<void> {
  doctor.busy = true
  await attempt(async () => {
    doctor.checks = (await call<{ checks: Check[] }>('GET', '/doctor')).checks
    doctor.at = new Date().toISOString()
  })
  doctor.checks ??= []
  doctor.busy = false
}
