/**
 * A small contract, compiled (solc 0.8.30, 200 runs). Its maker begins with 10,000.
 *
 *     contract Ledger {
 *         event Paid(address indexed from, address indexed to, uint256 amount);
 *         mapping(address => uint256) public balance;
 *         constructor() { balance[msg.sender] = 10_000; }
 *         function pay(address to, uint256 amount) external returns (bool) {
 *             if (balance[msg.sender] < amount) return false;
 *             unchecked { balance[msg.sender] -= amount; balance[to] += amount; }
 *             emit Paid(msg.sender, to, amount);
 *             return true;
 *         }
 *     }
 */
export const LEDGER_ABI = [
  'constructor()',
  'event Paid(address indexed from, address indexed to, uint256 amount)',
  'function balance(address) view returns (uint256)',
  'function pay(address to, uint256 amount) returns (bool)',
] as const

/** Creation code. */
export const LEDGER_CODE =
  '0x6080604052348015600e575f5ffd5b50335f90815260208190526040902061271090556101768061002f5f395ff3fe608060405234801561000f575f5ffd5b5060043610610034575f3560e01c8063c407687614610038578063e3d670d714610060575b5f5ffd5b61004b61004636600461012e565b61008d565b60405190151581526020015b60405180910390f35b61007f61006e366004610156565b5f6020819052908152604090205481565b604051908152602001610057565b335f908152602081905260408120548211156100aa57505f61010d565b335f81815260208181526040808320805487900390556001600160a01b03871680845292819020805487019055518581529192917f9def4e2802183d68ce90a6a226a2962b59298616c27165f12c4fbc5c84cdd778910160405180910390a35060015b92915050565b80356001600160a01b0381168114610129575f5ffd5b919050565b5f5f6040838503121561013f575f5ffd5b61014883610113565b946020939093013593505050565b5f60208284031215610166575f5ffd5b61016f82610113565b939250505056'
