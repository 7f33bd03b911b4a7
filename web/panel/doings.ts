import type { Doing } from '../src/store/puppy.svelte'

/** doings are the states of the puppy, in the order of the test mode. */
export const doings: Doing[] = ['idle', 'reading', 'writing', 'deleting', 'moving', 'dangerous', 'success', 'error']
