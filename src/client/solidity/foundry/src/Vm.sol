// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// The cheat codes of Foundry that this project uses. With forge-std, import its `Vm` instead.
interface Vm {
    function addr(uint256 key) external pure returns (address);
    function sign(uint256 key, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function warp(uint256 timeS) external;
    function envUint(string calldata name) external view returns (uint256);
    function envAddress(string calldata name, string calldata delimiter) external view returns (address[] memory);
    function startBroadcast() external;
    function stopBroadcast() external;
}

Vm constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
