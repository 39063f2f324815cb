"""The {{id}} stack."""
