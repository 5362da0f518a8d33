import type { ActorMethod } from './actorMethod.ts'

/** Methods of placeholders. @see go-state-types builtin/v9 … v18/placeholder/methods.go */
export const placeholderMethods: readonly ActorMethod[] = []
