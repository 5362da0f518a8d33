#!/usr/bin/env node
/**
 * Starts the `petrel` program in Node with compiled code kept between starts: unbuilt, 0.5 s instead of 1.4 s from the
 * second start on (measured on 2 cores).
 */
import { enableCompileCache } from 'node:module'

enableCompileCache()
await import('./main.ts')
