/** Kernels by major version of the machine. */
import type { VmRules } from '../rules.ts'
import { DefaultKernel } from './defaultKernel.ts'
import { Kernel2 } from './kernel2.ts'

const KERNELS: Readonly<Record<VmRules['major'], typeof DefaultKernel>> = {
  2: Kernel2,
  3: DefaultKernel,
  4: DefaultKernel,
}

/** The class of kernels that the rules ask for. */
export function kernelOf(rules: VmRules): typeof DefaultKernel {
  return KERNELS[rules.major]
}
