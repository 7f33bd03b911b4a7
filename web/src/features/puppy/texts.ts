// The texts of the puppy in the pages; the panel for SiYuan uses the same.

import { words } from '../../services/locale.svelte'
import { puppy } from '../../texts/puppy'

export const t = words(puppy)
export type Text = Parameters<typeof t>[0]
