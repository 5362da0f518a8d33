/** The version of this program, put in by the build (scripts/buildBrowser.ts). */
declare const PETREL_VERSION: string | undefined

/** `0.1.0`; `0.0.0` in a bundle that was not made by the build. */
export const VERSION: string = typeof PETREL_VERSION === 'string' ? PETREL_VERSION : '0.0.0'
