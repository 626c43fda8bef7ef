"""Follows a Kubernetes cluster: what fails is diagnosed from its pods' logs, states and events."""
