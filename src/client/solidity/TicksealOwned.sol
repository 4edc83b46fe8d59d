// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// A contract with an owner. Ownership is transferred in two steps, so that a mistyped address costs nothing.
abstract contract TicksealOwned {
    /// Only the owner may change signers and rules, and transfer ownership.
    error NotOwner();
    /// Only the account that the owner named accepts the ownership.
    error NotPendingOwner();
    /// Nobody could act as this owner.
    error InvalidOwner(address owner);

    event OwnershipTransferStarted(address indexed previousOwner, address indexed newOwner);
    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);

    address public owner;
    /// The account that may become the owner with `acceptOwnership`; zero while no transfer is under way.
    address public pendingOwner;

    constructor() {
        owner = msg.sender;
        emit OwnershipTransferred(address(0), msg.sender);
    }

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner();
        _;
    }

    /// Begins a transfer of ownership, and replaces one that is under way. Nothing changes until the new owner accepts.
    function transferOwnership(address newOwner) external onlyOwner {
        if (newOwner == address(0)) revert InvalidOwner(newOwner);
        pendingOwner = newOwner;
        emit OwnershipTransferStarted(owner, newOwner);
    }

    /// Ends a transfer: the caller, whom the owner named, becomes the owner.
    function acceptOwnership() external {
        if (msg.sender != pendingOwner) revert NotPendingOwner();
        address previousOwner = owner;
        owner = msg.sender;
        pendingOwner = address(0);
        emit OwnershipTransferred(previousOwner, msg.sender);
    }
}
