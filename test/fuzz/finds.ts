/** Inputs that once made a target fail, hang or take memory without bound. */
export const FINDS: readonly { readonly target: string; readonly what: string; readonly input: string }[] = []
